export { openTrace } from './open-trace.js';
