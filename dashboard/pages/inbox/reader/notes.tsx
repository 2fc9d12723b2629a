// What the team writes about a submission, saved while it is typed.

import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { type Submission, updateSubmission } from '../../../api/submissions.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Textarea } from '../../../ui/forms/field.tsx'
import { updateLoadedSubmission } from '../state/use-submission-changes.ts'

const SAVE_MS = 600
const NOTES_MAX = 10_000

type State = 'none' | 'typing' | 'saving' | 'saved' | 'failed'
const STATE_LABELS: Record<State, string> = {
  none: '',
  typing: 'Not saved yet',
  saving: 'Saving',
  saved: 'Saved',
  failed: 'Not saved',
}

export function Notes({ submission }: { submission: Submission }) {
  const [text, setText] = useState(submission.notes ?? '')
  const [state, save] = useAutosave(submission, text)
  return (
    <section className="grid gap-1.5">
      <div className="flex items-baseline gap-3">
        <label htmlFor="inbox-notes" className="flex-1 text-sm font-medium">
          Notes
        </label>
        <span role="status" className={`text-sm ${state === 'failed' ? 'text-danger' : 'text-soft'}`}>
          {STATE_LABELS[state]}
        </span>
        {state === 'failed' && (
          <Button size="small" onClick={() => void save(false)}>
            Try again
          </Button>
        )}
      </div>
      <Textarea
        id="inbox-notes"
        value={text}
        maxLength={NOTES_MAX}
        rows={2}
        placeholder="For you and your team"
        className="field-sizing-content max-h-80"
        onChange={(event) => setText(event.target.value)}
        onBlur={() => void save(false)}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
    </section>
  )
}

function useAutosave(submission: Submission, text: string): [State, (leaving: boolean) => Promise<void>] {
  const api = useApi()
  const client = useQueryClient()
  const [state, setState] = useState<State>('none')
  const saved = useRef(submission.notes ?? '')
  const sending = useRef<string>(undefined)
  const now = useRef({ submission, text })
  now.current = { submission, text }
  const save = useCallback(
    async (leaving: boolean) => {
      const { text } = now.current
      if (text === saved.current || text === sending.current) return
      sending.current = text
      setState('saving')
      try {
        const notes = text.trim() === '' ? null : text
        const answer = await updateSubmission(api, now.current.submission.id, { notes }, leaving)
        saved.current = text
        updateLoadedSubmission(client, api, answer)
        setState(now.current.text === text ? 'saved' : 'typing')
      } catch {
        // Said beside the field, with a way to try again.
        setState('failed')
      } finally {
        if (sending.current === text) sending.current = undefined
      }
    },
    [api, client],
  )
  useEffect(() => {
    if (text === saved.current) return
    setState('typing')
    const timer = setTimeout(() => void save(false), SAVE_MS)
    return () => clearTimeout(timer)
  }, [text, save])
  useEffect(() => {
    const leave = () => void save(true)
    addEventListener('pagehide', leave)
    return () => {
      removeEventListener('pagehide', leave)
      leave()
    }
  }, [save])
  return [state, save]
}
