import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: ['packages/*', 'apps/*', 'test'],
    coverage: { provider: 'v8', include: ['packages/*/src/**'] },
  },
});
