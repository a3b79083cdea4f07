// Type-aware rules only: Biome formats and lints the rest, but does not see the types that come from packages.
import tseslint from 'typescript-eslint';

/** Time, randomness and the environment come in through clock.ts, ids.ts and config/ (STYLE: habits). */
const doors = {
  'no-restricted-properties': [
    'error',
    { object: 'Date', property: 'now', message: 'Take a Clock.' },
    { object: 'Math', property: 'random', message: 'Take Ids.draw().' },
    { object: 'process', property: 'env', message: 'Read configuration through config/.' },
  ],
  'no-restricted-globals': ['error', 'setTimeout', 'setInterval'],
};

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '*.config.*', 'scripts/', '**/.next/', '**/next-env.d.ts'] },
  {
    files: ['**/*.ts'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
    },
  },
  { files: ['src/**/*.ts'], ignores: ['src/**/*.test.ts', 'src/testing/**', 'src/clock.ts'], rules: doors },
);
