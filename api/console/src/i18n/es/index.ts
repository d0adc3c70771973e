/** Spanish, as it is read in Spain and in America: words and forms that both use. */

import type { Texts } from "../translate";
import { account } from "./account";
import { capture } from "./capture";
import { command } from "./command";
import { common } from "./common";
import { events } from "./events";
import { film } from "./film";
import { fleet } from "./fleet";
import { frame } from "./frame";
import { history } from "./history";
import { keys } from "./keys";
import { library } from "./library";
import { live } from "./live";
import { login } from "./login";
import { map } from "./map";
import { names } from "./names";
import { sent } from "./sent";
import { settings } from "./settings";
import { share } from "./share";
import { vehicle } from "./vehicle";
import { zone } from "./zone";

export const start = {
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
  ...sent,
  ...settings,
  ...share,
  ...vehicle,
  ...zone,
} satisfies Texts;
