// `npm run audit:licences`: fails when a package has a licence that this project does not use, and says which one.
// `bun tests/support/packages/audit-licences.ts [path of a lockfile]`

import { join } from 'node:path'
import { judgeLicences, LICENCE_EXCEPTIONS, type Lockfile } from './licences.ts'

const path = process.argv[2] ?? join(import.meta.dir, '../../../package-lock.json')
const { counts, problems } = judgeLicences((await Bun.file(path).json()) as Lockfile)

const lines = [...counts]
  .sort(([, a], [, b]) => b - a)
  .map(([licence, count]) => `${String(count).padStart(4)}  ${licence}`)
process.stdout.write(`${lines.join('\n')}\n\nExceptions:\n`)
for (const { name, licence, developmentOnly, why } of LICENCE_EXCEPTIONS)
  process.stdout.write(`  ${name} (${licence}${developmentOnly ? ', development only' : ''}): ${why}\n`)
if (problems.length > 0) {
  process.stderr.write(`\nRefused:\n${problems.map((problem) => `  ${problem}\n`).join('')}`)
  process.exitCode = 1
}
