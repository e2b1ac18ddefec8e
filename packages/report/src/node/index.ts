export { renderFigures, renderReproductionFigures, type WrittenFigure } from './render-figures.js';
