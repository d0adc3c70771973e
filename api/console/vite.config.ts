/// <reference types="vitest/config" />
import { defineConfig } from "vite";

/** Libraries with a chunk of their own, so that an update of ours does not make browsers fetch them again. */
const libraries = [
  { name: "map", test: /node_modules[\\/](maplibre-gl|@maplibre|@mapbox)[\\/]/ },
  { name: "pmtiles", test: /node_modules[\\/](pmtiles|@protomaps)[\\/]/ },
  { name: "video", test: /node_modules[\\/]hls\.js[\\/]/ },
  { name: "chart", test: /node_modules[\\/]uplot[\\/]/ },
  { name: "drawing", test: /node_modules[\\/]terra-draw/ },
];
/** Our own that the first view loads together: each file costs its headers, and a compression of its own. */
const together = [
  {
    name: "shared",
    test: /src[\\/]((state|time)[\\/]|format[\\/](?!attribute(s|Table)\.)|(router|redirects|Link|linkTokens)\.tsx?$|parts[\\/](copy|touch|Icon|Late|Empty|Problem|Rows|Menu|Toast|Tabs|Field|SearchField|FilterBar|Dialog|Picker)\.|video[\\/](recorded[\\/]captures|cameraNames)\.|places[\\/]events[\\/](kinds|pages|zoneNames)\.|places[\\/](vehicle[\\/](acts|deviceImage|StatusMark|Values)|fleet[\\/](filters|shownPlace|useFilteredVehicles|vehicleOf|vehicleState|view))\.)/,
  },
  {
    name: "vehicleMap",
    test: /src[\\/]map[\\/](vehicleMap|world|baseMap|base|lightDrawing|clusters|marks|vehicleMarks|colors|vehicles|zones|rings|selectedVehicle|pointsOfInterest|mapPreferences)\.ts$/,
  },
];

export default defineConfig({
  base: "/console/",
  build: {
    // The Content-Security-Policy allows workers and pictures from files only.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1500,
    license: { fileName: "licences.txt" },
    // build.py reads it for the budgets.
    manifest: "chunks.json",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [...libraries, ...together], includeDependenciesRecursively: false },
      },
    },
  },
  worker: { format: "es" },
  server: {
    // `npm run dev` against a server that runs on this machine (motorpool serve --demo).
    proxy: { "/api": { target: "http://127.0.0.1:8082", ws: true } },
  },
  test: {
    // No test measures time, and the machine may be busy.
    testTimeout: 60_000,
    projects: [
      {
        extends: true,
        // One worker for all files: the tests change nothing global.
        test: { name: "units", include: ["src/**/*.test.ts"], isolate: false },
      },
      {
        extends: true,
        // One worker as well: each test opens a page of its own.
        test: {
          name: "components",
          include: ["src/**/*.test.tsx"],
          environment: "happy-dom",
          setupFiles: ["src/testing/setup.ts"],
          isolate: false,
          // So that they share what they import with the page.
          server: { deps: { inline: [/@testing-library/] } },
        },
      },
    ],
  },
});
