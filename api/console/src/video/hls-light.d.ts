/** The light build of hls.js has no types of its own; they are those of the whole. */
declare module "hls.js/light" {
  export * from "hls.js";
  export { default } from "hls.js";
}
