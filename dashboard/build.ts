// Bundles the dashboard if it is not built, and prints its directory: bun dashboard/build.ts [directory] [--all, or
// --language=de]. Without an option in English only, so that a first start is quick. The server runs this in a separate
// process to keep the bundler's memory out of its own (server/web/dashboard.ts).

import { parseArgs } from 'node:util'
import { getBuildDirectory, isBuilt, readLanguages } from './build-directory.ts'

const { values, positionals } = parseArgs({
  options: { all: { type: 'boolean' }, language: { type: 'string' } },
  allowPositionals: true,
})
const directory = positionals[0] ?? (await getBuildDirectory())
// Dynamic imports: the container image has no React, Tailwind or bundler.
if (!isBuilt(directory)) await (await import('./bundle.ts')).bundleDashboard(directory)
const languages = readLanguages(directory).filter((language) => values.all || language === values.language)
for (const language of languages) {
  if (!isBuilt(`${directory}/${language}`))
    await (await import('./bundle.ts')).bundleLanguage(directory, language)
}
process.stdout.write(`${directory}\n`)
