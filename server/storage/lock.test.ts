import { afterEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockDataDir } from './lock.ts'

const directories: string[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})
function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'towpath-lock-'))
  directories.push(directory)
  return directory
}

/** Another process that holds the directory until it is killed. */
async function holdElsewhere(dataDir: string) {
  const script = `
    import { lockDataDir } from ${JSON.stringify(join(import.meta.dir, 'lock.ts'))}
    lockDataDir(${JSON.stringify(dataDir)})
    console.log('held')
    await Bun.sleep(60_000)`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
  for await (const _ of child.stdout) break
  return child
}

test('a directory that another process holds is rejected, with its name and what to do', async () => {
  const dataDir = newDirectory()
  const holder = await holdElsewhere(dataDir)
  expect(() => lockDataDir(dataDir)).toThrow(
    `Another Towpath server is running on ${dataDir}. Stop it, or give this server another DATA_DIR.`,
  )
  holder.kill('SIGKILL')
  await holder.exited
  // In whatever way the holder ends, it leaves nothing to clean up.
  lockDataDir(dataDir).release()
})

test('a released directory can be locked again, and other directories are independent', () => {
  const [one, other] = [newDirectory(), newDirectory()]
  const lock = lockDataDir(one)
  const another = lockDataDir(other)
  expect(() => lockDataDir(one)).toThrow('Another Towpath server')
  lock.release()
  lockDataDir(one).release()
  another.release()
})

test('any other error is thrown unchanged', () => {
  const dataDir = newDirectory()
  mkdirSync(join(dataDir, 'server.lock'))
  const told = () => lockDataDir(dataDir)
  expect(told).toThrow()
  expect(told).not.toThrow('Another Towpath server')
})
