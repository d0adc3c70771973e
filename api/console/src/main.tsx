import { render } from "preact";
import "./styles/tokens.css";

function Start() {
  return (
    <main>
      <h1>Motorpool</h1>
    </main>
  );
}

const root = document.getElementById("app");
if (root) render(<Start />, root);
