import { expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../../../../tests/support/world.ts'
import { openDirectoryStore } from '../../../storage/files/directory-store.ts'
import { createUploadSweeper } from './sweep-uploads.ts'

test('a sweep deletes files without a submission, and none of another installation', async () => {
  const server = await startServer('sqlite')
  const place = { dir: mkdtempSync(join(tmpdir(), 'towpath-sweep-')), now: server.now }
  const own = await openDirectoryStore({ ...place, owner: 'aaaaaaaa' })
  const other = await openDirectoryStore({ ...place, owner: 'bbbbbbbb' })
  const keys: string[] = []
  for (const store of [own, other, own]) {
    const draft = await store.create()
    await draft.write(new Uint8Array(10))
    await draft.commit()
    keys.push(draft.key)
  }
  const unfinished = new Set([keys[2] as string])
  const sweeper = createUploadSweeper({
    db: server.app.db,
    store: own,
    owner: 'aaaaaaaa',
    now: server.now,
    unfinished,
    isAlone: true,
  })
  await sweeper.run()
  expect(sweeper.swept()).toBe(1)
  const left = await Array.fromAsync(own.list(), ({ key }) => key)
  expect(left.sort()).toEqual(keys.slice(1).sort())
  await server.close()
})
