import { expect, test } from 'bun:test'
import { createRecentChanges } from './recent-changes.ts'

test('a change concerns reads of its key that began before it, and no others', () => {
  const recent = createRecentChanges()
  const before = recent.version()
  recent.add('a')
  expect(recent.hasChangedSince(before, 'a')).toBe(true)
  expect(recent.hasChangedSince(before, 'b')).toBe(false)
  expect(recent.hasChangedSince(recent.version(), 'a')).toBe(false)
})

test('a read that is older than the changes that are remembered may be outdated', () => {
  const recent = createRecentChanges(3)
  const versions: number[] = []
  for (const key of ['a', 'b', 'c', 'd', 'b']) {
    versions.push(recent.version())
    recent.add(key)
  }
  // Only the change of `a` is forgotten: the read before it cannot tell, the read after it can.
  expect(recent.hasChangedSince(versions[0] as number, 'x')).toBe(true)
  expect(recent.hasChangedSince(versions[1] as number, 'x')).toBe(false)
  expect(recent.hasChangedSince(versions[2] as number, 'b')).toBe(true)
  expect(recent.hasChangedSince(versions[4] as number, 'd')).toBe(false)
})

test('a change of all keys concerns every read before it', () => {
  const recent = createRecentChanges()
  const before = recent.version()
  recent.addAll()
  expect(recent.hasChangedSince(before, 'a')).toBe(true)
  expect(recent.hasChangedSince(recent.version(), 'a')).toBe(false)
})
