// First: secrets leave the address before anything is loaded or drawn.
import "./linkTokens";
import { render } from "preact";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/frame.css";
import "./styles/print.css";
import { linkTokens } from "./linkTokens";
import { App } from "./places/frame/App";
import { start } from "./places/frame/start";

const root = document.getElementById("app");
if (root) {
  render(<App />, root);
  void start(linkTokens.token);
}
