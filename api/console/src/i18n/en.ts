/** English: the texts all other languages must have. Each place has a file of its own. */

import { account } from "./en/account";
import { capture } from "./en/capture";
import { command } from "./en/command";
import { common } from "./en/common";
import { events } from "./en/events";
import { film } from "./en/film";
import { fleet } from "./en/fleet";
import { frame } from "./en/frame";
import { history } from "./en/history";
import { keys } from "./en/keys";
import { library } from "./en/library";
import { live } from "./en/live";
import { login } from "./en/login";
import { map } from "./en/map";
import { names } from "./en/names";
import { settings } from "./en/settings";
import { share } from "./en/share";
import { vehicle } from "./en/vehicle";
import { zone } from "./en/zone";

export const en = {
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
};
