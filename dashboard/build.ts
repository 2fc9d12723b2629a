// Bundles the dashboard if it is not built, and prints its directory: bun dashboard/build.ts [directory]. The server runs
// this in a separate process to keep the bundler's memory out of its own (server/web/dashboard.ts).

import { getBuildDirectory, isBuilt } from './build-directory.ts'

const directory = process.argv[2] ?? (await getBuildDirectory())
if (!isBuilt(directory)) {
  // A dynamic import: the container image has no React, Tailwind or bundler.
  const { bundleDashboard } = await import('./bundle.ts')
  await bundleDashboard(directory)
}
process.stdout.write(`${directory}\n`)
