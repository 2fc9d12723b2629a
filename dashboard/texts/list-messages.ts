// Lists the texts of the dashboard: those in its code, and the API's messages.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { API_MESSAGES } from './api-messages.ts'
import { findMessages } from './find-messages.ts'
import { FINDING_MESSAGES } from './finding-messages.ts'

const DASHBOARD = join(import.meta.dir, '..')

/** Files that only the build uses have no texts for people. */
const SHOWN =
  /^(?!texts\/|languages\/|(?:build|bundle|dev|reload|render)[\w-]*\.ts|.*\.(?:test|fixture)\.tsx?$)/

/** Files with code for other people's pages. */
const OF_OTHER_PAGES = ['pages/forms/form-examples.ts', 'ui/countries.ts']

export const listSources = () =>
  [...new Bun.Glob('**/*.{ts,tsx}').scanSync({ cwd: DASHBOARD })]
    .filter((path) => SHOWN.test(path) && !OF_OTHER_PAGES.includes(path))
    .sort()
    .map((path) => ({ path, source: readFileSync(join(DASHBOARD, path), 'utf8') }))

/** English texts, sorted, with the first place of each. */
export function listMessages(): Map<string, string> {
  const messages = new Map(API_MESSAGES.map((key) => [key, 'texts/api-messages.ts']))
  for (const key of FINDING_MESSAGES) messages.set(key, 'texts/finding-messages.ts')
  for (const { path, source } of listSources()) {
    for (const { key, line } of findMessages(path, source)) {
      if (!messages.has(key)) messages.set(key, `${path}:${line}`)
    }
  }
  return new Map([...messages].sort(([a], [b]) => (a < b ? -1 : 1)))
}
