// The texts of each language: dashboard/languages/<code>.json. English is in the code.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Catalog } from './translate-source.ts'

const DIRECTORY = join(import.meta.dir, '../languages')

/** The languages besides English, such as `de`. */
export const listLanguages = () =>
  readdirSync(DIRECTORY)
    .map((name) => name.replace('.json', ''))
    .sort()

export const toCatalogPath = (language: string) => join(DIRECTORY, `${language}.json`)

export const readCatalog = (language: string) =>
  JSON.parse(readFileSync(toCatalogPath(language), 'utf8')) as Catalog
