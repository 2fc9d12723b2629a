// docs/faults.md names tests that exist: each file, and each title in it.

import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../support/architecture/read-checkout.ts'

const page = readFileSync(join(ROOT, 'docs/faults.md'), 'utf8')
const rows = page.split('\n').filter((line) => /^\| [A-Z]/.test(line))

/** Such as: `tests/faults/a.test.ts` “a title, or a part of it” */
const NAMED_TEST = /`([\w./-]+\.ts)` “([^”]+)”/g

test('each row names a test, and each title that the page quotes is in its file', () => {
  expect(rows.length).toBeGreaterThan(15)
  expect(rows.filter((row) => !/[\w/-]+\.ts\b/.test(row))).toEqual([])
  const missing = [...page.matchAll(NAMED_TEST)]
    .map(([, path = '', title = '']) => ({ path, title }))
    .filter(({ path, title }) => {
      const file = join(ROOT, path)
      return !existsSync(file) || !readFileSync(file, 'utf8').replaceAll("\\'", "'").includes(title)
    })
  expect(missing).toEqual([])
})
