import { Fragment } from "preact";

/** A name of the program, which is broken behind its underscores where there is no room. */
export function Identifier({ name }: { name: string }) {
  return (
    <>
      {name.split("_").map((part, index) => (
        <Fragment key={index}>
          {index > 0 && (
            <>
              _<wbr />
            </>
          )}
          {part}
        </Fragment>
      ))}
    </>
  );
}
