// Questions that are asked one by one in the same moment, answered together.

/**
 * @param answer is asked about each key once, in the order they came; what it does not answer is undefined
 * @returns asks about one key; whoever asks for the same one in the same moment gets the same answer
 */
export function createBatchLoader<Key, Answer>(
  answer: (keys: Key[]) => Promise<Map<Key, Answer>>,
): (key: Key) => Promise<Answer | undefined> {
  let asked: { keys: Set<Key>; answers: Promise<Map<Key, Answer>> } | undefined

  function ask() {
    const keys = new Set<Key>()
    // After all that is ready to run now has run, and so has asked.
    const moment = new Promise<void>((resolve) => setImmediate(resolve))
    const answers = moment.then(() => {
      asked = undefined
      return answer([...keys])
    })
    return { keys, answers }
  }

  return async (key) => {
    asked ??= ask()
    asked.keys.add(key)
    return (await asked.answers).get(key)
  }
}
