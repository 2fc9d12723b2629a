// Listens for requests that need a confirmation, and opens the dialog for it. The dialog is loaded when it is first
// needed.

import { useEffect, useState } from 'react'
import { setConfirmation } from '../api/client.ts'
import { lazyPart } from '../ui/lazy-part.tsx'

const ConfirmIdentityDialog = lazyPart(() => import('./confirm-identity-dialog.tsx'), 'ConfirmIdentityDialog')

/** Several requests at once share one dialog. */
interface Question {
  answer: (confirmed: boolean) => void
  confirmed: Promise<boolean>
}

export function ConfirmIdentity() {
  const [question, setQuestion] = useState<Question>()
  useEffect(() => {
    let open: Question | undefined
    setConfirmation(() => {
      if (open) return open.confirmed
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const answer = (confirmed: boolean) => {
        open = undefined
        setQuestion(undefined)
        resolve(confirmed)
      }
      open = { answer, confirmed: promise }
      setQuestion(open)
      return promise
    })
  }, [])
  if (!question) return null
  return <ConfirmIdentityDialog onAnswer={question.answer} />
}
