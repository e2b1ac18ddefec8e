import { fileURLToPath } from 'node:url';
import { defineProject, type UserWorkspaceConfig } from 'vitest/config';

const conditions = ['@flashstack/source', 'node', 'import', 'module', 'default'];
const setupFiles = ['fast-check-seed', 'temporary-folder'].map((name) => {
  return fileURLToPath(new URL(`test/${name}.ts`, import.meta.url));
});

/** One vitest project per package: siblings resolve to their sources, so that no build is needed before a test. */
export function project(name: string, include: string[] = ['test/**/*.test.ts']): UserWorkspaceConfig {
  return defineProject({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    // Full counts take minutes under CI; a hang is caught by the limit all the same.
    test: { name, include, setupFiles, testTimeout: 600_000, hookTimeout: 600_000 },
  });
}
