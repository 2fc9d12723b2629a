import { expect, test } from 'bun:test'
import { deriveConnectionLimits, readDescriptorLimit } from './connection-limits.ts'

test.each([64, 256, 1024, 4096, 20_000, 1_048_576])(
  'of %i descriptors enough are left for the stores, and half of the rest for plain redirects',
  (descriptors) => {
    const { total, perAddress, relayed, relayedPerAddress } = deriveConnectionLimits(descriptors)
    // Both ends of the connection to the server behind are descriptors of this process.
    const used = total + 2 * relayed
    if (descriptors >= 128) expect(used).toBeLessThanOrEqual(descriptors - 64)
    expect(relayed).toBeLessThanOrEqual(total / 2)
    expect(perAddress).toBeLessThan(total)
    expect(relayedPerAddress).toBeLessThan(Math.max(relayed, 2))
    expect(relayedPerAddress).toBeGreaterThan(0)
  },
)

test.skipIf(process.platform !== 'linux')('the limit of this process is read', () => {
  const run = Bun.spawnSync(['sh', '-c', 'ulimit -n 321; exec "$@"', 'sh', process.execPath, '-e', CODE])
  expect(run.stdout.toString()).toBe('321')
  expect(readDescriptorLimit()).toBeGreaterThanOrEqual(256)
})

const CODE = `
  const { readDescriptorLimit } = await import('${import.meta.dir}/connection-limits.ts')
  process.stdout.write(String(readDescriptorLimit()))`
