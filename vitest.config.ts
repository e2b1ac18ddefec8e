import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: ['packages/*', 'apps/*', 'test'],
    // All cores: the tests are computation, and nothing else runs beside them.
    maxWorkers: '100%',
    coverage: { provider: 'v8', include: ['packages/*/src/**'] },
  },
});
