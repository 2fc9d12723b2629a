// The team's notes about a submission, saved while typing.

import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { type Submission, updateSubmission } from '../../../api/submissions.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { Textarea } from '../../../ui/forms/field.tsx'
import { NOTES_ID } from '../state/element-ids.ts'
import { updateLoadedSubmissions } from '../state/use-submission-changes.ts'

const SAVE_MS = 600
const NOTES_MAX = 10_000

type State = 'none' | 'typing' | 'saving' | 'saved' | 'failed'
const STATE_LABELS: Record<State, string> = {
  none: '',
  typing: 'Unsaved',
  saving: 'Saving…',
  saved: 'Saved',
  failed: 'Couldn’t save',
}

export function Notes({ submission }: { submission: Submission }) {
  const [text, setText] = useState(submission.notes ?? '')
  const [state, save] = useAutosave(submission, text)
  const canEdit = useCanEdit()
  return (
    <section className="grid gap-1.5">
      <div className="flex items-baseline gap-3">
        <label htmlFor={NOTES_ID} className="flex-1 text-sm font-medium">
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
        id={NOTES_ID}
        value={text}
        maxLength={NOTES_MAX}
        rows={2}
        placeholder={canEdit ? 'Only your team sees notes' : 'No notes yet'}
        readOnly={!canEdit}
        className="field-sizing-content max-h-80"
        onChange={(event) => setText(event.target.value)}
        onBlur={() => void save(false)}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
    </section>
  )
}

function useAutosave(submission: Submission, text: string): [State, (keepalive: boolean) => Promise<void>] {
  const api = useApi()
  const client = useQueryClient()
  const [state, setState] = useState<State>('none')
  const saved = useRef(submission.notes ?? '')
  const sending = useRef<string>(undefined)
  const latest = useRef({ submission, text })
  latest.current = { submission, text }
  const save = useCallback(
    async (keepalive: boolean) => {
      const { text } = latest.current
      if (text === saved.current || text === sending.current) return
      sending.current = text
      setState('saving')
      try {
        const notes = text.trim() === '' ? null : text
        const updated = await updateSubmission(api, latest.current.submission.id, { notes }, keepalive)
        saved.current = text
        updateLoadedSubmissions(client, api, new Map([[updated.id, updated]]))
        setState(latest.current.text === text ? 'saved' : 'typing')
      } catch {
        // The error and a "Try again" button appear above the field.
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
    const saveOnLeave = () => void save(true)
    addEventListener('pagehide', saveOnLeave)
    return () => {
      removeEventListener('pagehide', saveOnLeave)
      saveOnLeave()
    }
  }, [save])
  return [state, save]
}
