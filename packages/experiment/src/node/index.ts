export { exportResults, type TableFormat, tableParquet } from './export-results.js';
export { HostError, reasonOf } from './host-error.js';
export { importModule, loadModules } from './load-module.js';
export { type LoadedSpec, loadSpec, readSpec, type SpecChanges } from './load-spec.js';
export { readResult, repeatable, resultText, writeResult } from './result-files.js';
export { WholeFile, writeWhole } from './write-whole.js';
export { readYaml, type SpecText } from './yaml-spec.js';
