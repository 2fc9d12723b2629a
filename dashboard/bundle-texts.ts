// Puts the texts of a language into the sources while they are bundled.

import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { BunPlugin } from 'bun'
import { pickMessages } from './texts/api-messages.ts'
import { readCatalog } from './texts/catalogs.ts'
import { FINDING_MESSAGES } from './texts/finding-messages.ts'
import { translateSource } from './texts/translate-source.ts'

const HERE = import.meta.dir

const toFilter = (path: string) => new RegExp(`^${RegExp.escape(HERE)}/${path}$`)

/** The entry point is left to `bundleAreas`: it has no texts. */
export function bundleTexts(language: string): BunPlugin {
  return {
    name: 'texts',
    setup(build) {
      const catalog = readCatalog(language)
      build.onLoad({ filter: toFilter('api/error-texts\\.ts') }, () => ({
        contents: `import { createErrorTranslator } from './error-translator.ts'
          export const translateError = createErrorTranslator(${JSON.stringify(pickMessages(catalog))})`,
        loader: 'ts',
      }))
      build.onLoad({ filter: toFilter('api/finding-texts\\.ts') }, () => ({
        contents: `import { createErrorTranslator } from './error-translator.ts'
          export const translateFinding = createErrorTranslator(${JSON.stringify(pickMessages(catalog, FINDING_MESSAGES))})`,
        loader: 'ts',
      }))
      build.onLoad({ filter: toFilter('(?!main\\.tsx$).*\\.tsx?') }, ({ path }) => ({
        contents: translateSource(relative(HERE, path), readFileSync(path, 'utf8'), catalog),
        loader: path.endsWith('x') ? 'tsx' : 'ts',
      }))
    },
  }
}
