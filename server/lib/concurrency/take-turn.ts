// Shares the event loop between long tasks that run in steps: one step a turn for all tasks together. Ten searches at
// the same moment would otherwise run ten steps in one turn, and redirects would wait for all of them.

const waiting: (() => void)[] = []

/** Resolves in a later turn of the event loop, after the waiting steps of others. Await it before each step. */
export function takeTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(runNext)
  })
}

function runNext() {
  const next = waiting.shift()
  if (waiting.length > 0) setImmediate(runNext)
  next?.()
}

/** Cuts rows into steps of bounded bytes, each with at least one row. */
export function cutIntoSteps<Row extends { bytes: number }>(rows: Row[], bytesMax: number): Row[][] {
  const steps: Row[][] = []
  let total = 0
  for (const row of rows) {
    // PostgreSQL returns sums as texts.
    const bytes = Number(row.bytes)
    total += bytes
    const step = steps.at(-1)
    if (step && total <= bytesMax) {
      step.push(row)
    } else {
      steps.push([row])
      total = bytes
    }
  }
  return steps
}
