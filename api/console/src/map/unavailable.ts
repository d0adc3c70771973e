/** The browser cannot draw the map: it has no WebGL, or it is switched off. */
export class MapUnavailable extends Error {}
