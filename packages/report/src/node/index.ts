export { renderFigures, type WrittenFigure } from './render-figures.js';
