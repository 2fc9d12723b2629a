import { expect, test } from 'bun:test'
import { createExportLimiter } from './export-limiter.ts'

const never = new AbortController().signal
const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Work that tells when it runs, and ends when the test ends it. */
function work() {
  const end = Promise.withResolvers<string>()
  const job = {
    running: false,
    end: () => end.resolve('done'),
    run: () => {
      job.running = true
      return end.promise
    },
  }
  return job
}

test('runs two exports at a time, one for each workspace, and queues the others', async () => {
  const places = createExportLimiter({ places: 2, timeoutMs: 5000 })
  const jobs = [1, 1, 2, 3].map((workspaceId) => ({ workspaceId, job: work() }))
  const results = jobs.map(({ workspaceId, job }) => places.run(workspaceId, never, job.run))
  const running = () => jobs.map(({ job }) => job.running)
  await settled()
  expect(running()).toEqual([true, false, true, false])
  jobs[2]?.job.end()
  await settled()
  expect(running()).toEqual([true, false, true, true])
  jobs[0]?.job.end()
  await settled()
  expect(running()).toEqual([true, true, true, true])
  for (const { job } of jobs) job.end()
  expect(await Promise.all(results)).toEqual(['done', 'done', 'done', 'done'])
})

test('refuses an export after the timeout, and gives it no place later', async () => {
  const places = createExportLimiter({ places: 1, timeoutMs: 20 })
  const first = work()
  const second = work()
  const running = places.run(1, never, first.run)
  await expect(places.run(2, never, second.run)).rejects.toMatchObject({
    code: 'unavailable',
    detail: { retryAfter: expect.any(Number) },
  })
  first.end()
  await running
  await settled()
  expect(second.running).toBe(false)
})

test('removes an aborted export from the queue', async () => {
  const places = createExportLimiter({ places: 1, timeoutMs: 5000 })
  const [first, second, third] = [work(), work(), work()]
  const gone = new AbortController()
  const running = places.run(1, never, first.run)
  const left = places.run(2, gone.signal, second.run)
  const next = places.run(3, never, third.run)
  gone.abort(new Error('gone'))
  expect(left).rejects.toThrow('gone')
  expect(places.run(4, gone.signal, second.run)).rejects.toThrow('gone')
  first.end()
  await running
  await settled()
  expect([second.running, third.running]).toEqual([false, true])
  third.end()
  await next
})

test('frees the place of an export that fails', async () => {
  const places = createExportLimiter({ places: 1, timeoutMs: 1000 })
  expect(places.run(1, never, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await places.run(1, never, async () => 'yes')).toBe('yes')
})
