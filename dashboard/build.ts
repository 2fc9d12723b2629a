// Prints the directory of the bundled dashboard, which it bundles when there is none: bun dashboard/build.ts [directory]. The
// server runs this in a process of its own, so that the bundler's memory is not the server's (server/web/dashboard.ts).

import { getBuildDirectory, isBuilt } from './build-directory.ts'

const directory = process.argv[2] ?? (await getBuildDirectory())
if (!isBuilt(directory)) {
  // React, Tailwind and the bundler are loaded only here: an image has none of them.
  const { bundleDashboard } = await import('./bundle.ts')
  await bundleDashboard(directory)
}
process.stdout.write(`${directory}\n`)
