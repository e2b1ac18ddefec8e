import type { ExperimentResult } from '@flashstack/experiment';
import { comparisonFigures } from './comparison.js';
import { type Figure, isDrawn, wideWidth } from './figure.js';
import { Canvas } from './plot/canvas.js';
import { viewsOf } from './render.js';
import { checkReproduction } from './reproduction/check.js';
import { slug } from './reproduction/names.js';
import { figuresOf } from './reproduction/page.js';
import type { Reproduction } from './reproduction/types.js';
import { type ReportOptions, runFigures } from './run-report.js';
import { light, type Theme, withColors } from './tokens.js';

/** A figure as a picture that stands alone. */
export interface FigureFile {
  /** Such as `throughput`: what the figure is called in the report. */
  readonly name: string;
  /** What the figure shows. */
  readonly title: string;
  /** The picture as SVG, in the colours of the theme. */
  readonly svg: string;
}

/**
 * The figures of a report, each as an SVG file of its own, in the order of the report. Figures for which the results
 * lack the numbers are left out.
 * @throws InputError as `renderReport`.
 */
export function figureFiles(
  results: readonly ExperimentResult[],
  options: ReportOptions = {},
  theme: Theme = light,
): FigureFile[] {
  const views = viewsOf(results, options);
  return filesOf(views.length === 1 ? runFigures(views[0]) : comparisonFigures(views, options), theme);
}

/**
 * The figures of a reproduction, each as an SVG file of its own, in its order, by the names of the figures; those without
 * a value are left out.
 * @throws InputError as `renderReproductions`.
 */
export function reproductionFigures(reproduction: Reproduction, theme: Theme = light): FigureFile[] {
  checkReproduction(reproduction);
  const own = `${slug(reproduction.id)}--`;
  return filesOf(figuresOf(reproduction), theme).map((file) => ({ ...file, name: file.name.slice(own.length) }));
}

function filesOf(figures: readonly Figure[], theme: Theme): FigureFile[] {
  const canvas = new Canvas();
  return figures.filter(isDrawn).map(({ id, title, span, content, legend }) => {
    const size = { width: wideWidth(span), height: content.heights[0], narrow: false };
    const svg = canvas.drawAlone(content.sketch(size), size, title, legend ?? []);
    return { name: id, title, svg: withColors(svg, theme) };
  });
}
