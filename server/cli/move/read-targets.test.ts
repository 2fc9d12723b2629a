// The options of `towpath move`, as the operator gives them.

import { expect, test } from 'bun:test'
import { hidePassword, readMoveTargets } from './read-targets.ts'

const NOTHING = { databaseUrl: undefined }

test.each([
  [{}, NOTHING, 'Say where to'],
  [{ 'to-database': 'mysql://me:Very-Secret@a/b' }, NOTHING, '--to-database: is not a PostgreSQL address'],
  [{ 'to-clickhouse': 'ftp://me:Very-Secret@a/b' }, NOTHING, '--to-clickhouse: is not the address'],
  [{ 'to-database': 'postgres://a/b' }, { databaseUrl: 'postgres://c/d' }, 'DATABASE_URL is set'],
  [
    { 'to-clickhouse': 'http://a/b' },
    { databaseUrl: undefined, clickHouseUrls: ['http://c/d'] },
    'CLICKHOUSE_URL is set',
  ],
])('%p is refused with a sentence, without a password', (options, present, sentence) => {
  const read = () => readMoveTargets(options, present)
  expect(read).toThrow(sentence)
  expect(read).not.toThrow('Very-Secret')
})

test('an address is shown without its password', () => {
  expect(hidePassword('postgres://me:Very-Secret@db:5432/towpath?sslmode=require')).toBe(
    'postgres://me:...@db:5432/towpath?sslmode=require',
  )
  expect(hidePassword('http://hits:8123/towpath?password=Very-Secret')).not.toContain('Very-Secret')
})
