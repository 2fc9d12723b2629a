// Adds new texts to the catalogs with an empty translation, removes those that are gone, and prints what is to translate:
// npm run -s texts [language …]. A language that is new gets its file.

import { writeFileSync } from 'node:fs'
import { listLanguages, readCatalog, toCatalogPath } from './catalogs.ts'
import { listMessages } from './list-messages.ts'

const messages = listMessages()
for (const language of new Set([...listLanguages(), ...process.argv.slice(2)])) {
  const known = listLanguages().includes(language) ? readCatalog(language) : {}
  const catalog = Object.fromEntries([...messages.keys()].map((key) => [key, known[key] ?? '']))
  writeFileSync(toCatalogPath(language), `${JSON.stringify(catalog, null, 2)}\n`)
  const missing = Object.keys(catalog).filter((key) => catalog[key] === '')
  process.stdout.write(`${language}: ${messages.size} texts, ${missing.length} to translate\n`)
  for (const key of missing) process.stdout.write(`  ${messages.get(key)}: ${JSON.stringify(key)}\n`)
}
