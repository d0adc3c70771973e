/** A text whose names and examples, which stand in backticks, are the same in every language. */
export function NamesIn({ text }: { text: string }) {
  return (
    <>
      {text.split("`").map((piece, index) =>
        index % 2 ? (
          <code key={index} translate={false}>
            {piece}
          </code>
        ) : (
          piece
        ),
      )}
    </>
  );
}
