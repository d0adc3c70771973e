/** Portuguese. */

import { account } from "./pt/account";
import { capture } from "./pt/capture";
import { command } from "./pt/command";
import { common } from "./pt/common";
import { events } from "./pt/events";
import { film } from "./pt/film";
import { fleet } from "./pt/fleet";
import { frame } from "./pt/frame";
import { history } from "./pt/history";
import { keys } from "./pt/keys";
import { library } from "./pt/library";
import { live } from "./pt/live";
import { login } from "./pt/login";
import { map } from "./pt/map";
import { names } from "./pt/names";
import { settings } from "./pt/settings";
import { share } from "./pt/share";
import { vehicle } from "./pt/vehicle";
import { zone } from "./pt/zone";
import type { Texts } from "./translate";

export const pt = {
  ...account,
  ...capture,
  ...command,
  ...common,
  ...events,
  ...film,
  ...fleet,
  ...frame,
  ...history,
  ...keys,
  ...library,
  ...live,
  ...login,
  ...map,
  ...names,
  ...settings,
  ...share,
  ...vehicle,
  ...zone,
} satisfies Texts;
