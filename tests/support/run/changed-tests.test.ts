// The table of CONTRIBUTING.md says which tests a change must run.

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { findChangedTests, readChangeRules, readContributing } from './changed-tests.ts'

const RULES = readChangeRules(readContributing())

const CASES: [changed: string[], tests: string[]][] = [
  [['docs/adr/README.md'], ['tests/journeys', 'tests/maps.test.ts']],
  [['server/features/links/create.ts'], ['server/features/links', 'tests/api', 'tests/security']],
  [
    ['server/storage/lock.ts', 'server/storage/database/postgres.ts'],
    ['server/features/accounts', 'server/storage', 'tests/cluster', 'tests/faults'],
  ],
  [['tests/api/tenants.test.ts'], ['tests/api/tenants.test.ts']],
  [['LICENSE'], []],
]

test.each(CASES)('after a change of %j', (changed, tests) => {
  expect(findChangedTests(changed, RULES)).toEqual(tests)
})

test('every test that the table names is there', () => {
  const named = RULES.flatMap(({ tests }) => tests).filter((path) => !path.includes('*'))
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((path) => !existsSync(path))).toEqual([])
})
