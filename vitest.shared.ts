import { defineProject, type UserWorkspaceConfig } from 'vitest/config';

const conditions = ['@flashstack/source', 'node', 'import', 'module', 'default'];

/** One vitest project per package: siblings resolve to their sources, so that no build is needed before a test. */
export function project(name: string): UserWorkspaceConfig {
  return defineProject({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: { name, include: ['test/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 120_000 },
  });
}
