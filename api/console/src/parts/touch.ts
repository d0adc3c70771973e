/** Whether it is a finger that points: targets are larger then, and times come from the pickers of the browser. */
export const hasTouch = window.matchMedia("(pointer: coarse)").matches;
