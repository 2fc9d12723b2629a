import { expect, test } from 'bun:test'
import { cutIntoSteps, takeTurn } from './take-turn.ts'

test('long works share the event loop: one step a turn, each work in its turn', async () => {
  const steps: string[] = []
  const work = async (name: string) => {
    for (let step = 0; step < 3; step++) {
      await takeTurn()
      steps.push(name)
    }
  }
  let running = true
  let mostInOneTurn = 0
  const watch = async () => {
    while (running) {
      const before = steps.length
      await new Promise((resolve) => setImmediate(resolve))
      mostInOneTurn = Math.max(mostInOneTurn, steps.length - before)
    }
  }
  const watching = watch()
  await Promise.all(['a', 'b', 'c'].map(work))
  running = false
  await watching
  expect(steps).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c'])
  expect(mostInOneTurn).toBe(1)
})

test('a step has bounded bytes, but always one row', () => {
  const sizes = (rows: number[]) =>
    cutIntoSteps(
      rows.map((bytes) => ({ bytes })),
      10,
    ).map((step) => step.map(({ bytes }) => bytes))
  expect(sizes([])).toEqual([])
  expect(sizes([4, 6, 1, 20, 0, 3, 8])).toEqual([[4, 6], [1], [20], [0, 3], [8]])
})
