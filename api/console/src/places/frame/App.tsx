import { Problem } from "../../parts/Problem";
import { Toasts } from "../../parts/Toast";
import { location, match } from "../../router";
import { codesRoute, routes } from "../../routes";
import { expired, limited, session } from "../../state/session";
import { GuestFrame } from "../share/GuestFrame";
import { Frame } from "./Frame";
import { Outlet, PlaceSkeleton } from "./Outlet";
import { SessionDialog } from "./SessionDialog";
import { failure } from "./start";

/** The whole page: a place, with the rail around it for those who are logged in. */
export function App() {
  const { path } = location.value;
  const route = routes.find((each) => match(each.pattern, path));
  if (session.value === undefined) return <Starting onMap={route?.map ?? false} />;
  if (session.value?.temporary) return <GuestFrame route={route} />;
  if (limited.value) {
    return (
      <>
        <Outlet route={codesRoute} />
        <Toasts />
      </>
    );
  }
  // Whoever is not logged in sees the login at any address, and goes on from there.
  const bare = session.value === null || route?.open;
  const shown =
    session.value === null && !route?.open ? routes.find((each) => each.pattern === "/login") : route;
  return (
    <>
      {bare ? <Outlet route={shown} /> : <Frame route={shown} />}
      {expired.value && <SessionDialog />}
      <Toasts />
    </>
  );
}

/** What is seen until session and language are there: the form of what comes. */
function Starting({ onMap }: { onMap: boolean }) {
  if (failure.value) {
    return (
      <main class="starting">
        <Problem problem={failure.value} />
      </main>
    );
  }
  return (
    <div class="frame">
      <div class="rail" />
      <main>
        <PlaceSkeleton map={onMap} />
      </main>
    </div>
  );
}
