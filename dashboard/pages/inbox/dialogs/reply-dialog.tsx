// Writes a reply to the sender: free text or a template of the form, which goes through the mail server or the person's
// own mail program.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { toFieldErrors } from '../../../api/client.ts'
import { setOutcome } from '../../../api/inbox/outcomes.ts'
import { sendTeamReply, teamRepliesQuery } from '../../../api/inbox/team-replies.ts'
import type { Submission } from '../../../api/submissions.ts'
import { useApi, useWorkspace } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { formatTime } from '../../../ui/format.ts'
import { Field, Textarea, TextField, Toggle } from '../../../ui/forms/field.tsx'
import { Form } from '../../../ui/forms/form.tsx'
import { FormError } from '../../../ui/forms/form-error.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'
import { useOutcomeRefresh } from '../reader/use-outcome-refresh.ts'
import { useFormOf } from '../state/field-labels.ts'
import { quoteMessage, toMailto, toReplySubject } from '../state/reply-text.ts'
import { isHeldBack } from '../state/submission-status.ts'
import { ReplyTemplates } from './reply-templates.tsx'

interface Props {
  submission: Submission
  email: string
  onClose: () => void
}

function useReply({ submission, onClose }: Props) {
  const api = useApi()
  const client = useQueryClient()
  const refresh = useOutcomeRefresh(submission.id)
  const [subject, setSubject] = useState(() => toReplySubject(submission))
  const [text, setText] = useState(() => quoteMessage(submission, formatTime(submission.createdAt)))
  const isNewLead =
    submission.outcomes.length === 0 && submission.duplicateOf === null && !isHeldBack(submission.status)
  const [marks, setMarks] = useState(isNewLead)
  /** Another text is another reply; the same one leaves once, however often it is tried. */
  const [key, setKey] = useState(() => crypto.randomUUID())
  const change = (part: { subject?: string; text?: string }) => {
    if (part.subject !== undefined) setSubject(part.subject)
    if (part.text !== undefined) setText(part.text)
    setKey(crypto.randomUUID())
  }
  const markAsContacted = async () => {
    if (!marks) return
    const outcome = { submissionId: submission.id, stage: 'contacted', value: null, currency: null } as const
    try {
      await setOutcome(api, outcome)
      await refresh()
    } catch (error) {
      toastError(error, 'Couldn’t change the stage')
    }
  }
  const send = useMutation({
    mutationFn: () => sendTeamReply(api, submission.id, { subject, text }, key),
    async onSuccess() {
      void client.invalidateQueries(teamRepliesQuery(api, submission.id))
      toast('Reply sent')
      onClose()
      await markAsContacted()
    },
    onError() {},
  })
  return { subject, text, change, isNewLead, marks, setMarks, markAsContacted, send }
}

export default function ReplyDialog(props: Props) {
  const { submission, email, onClose } = props
  const formId = useId()
  const reply = useReply(props)
  const { subject, text, change, send } = reply
  const errors = toFieldErrors(send.error, ['subject', 'text'])
  const openMailProgram = () => {
    location.assign(toMailto(email, subject, text))
    onClose()
    void reply.markAsContacted()
  }
  return (
    <Dialog
      wide
      onClose={onClose}
      title="Reply"
      description={<span className="break-all">To {email}</span>}
      footer={
        <>
          <Button className="mr-auto" onClick={openMailProgram}>
            Open in email app
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={formId} variant="primary" busy={send.isPending}>
            Send reply
          </Button>
        </>
      }
    >
      <Form id={formId} noValidate className="grid gap-4" onSubmit={() => send.mutate()}>
        {errors.general && <FormError>{errors.general}</FormError>}
        <ReplyTemplates submission={submission} subject={subject} text={text} onChoose={change} />
        <TextField
          label="Subject"
          value={subject}
          maxLength={200}
          onChange={({ target }) => change({ subject: target.value })}
          error={errors.subject}
        />
        <Field label="Message" error={errors.text}>
          {(control) => (
            <Textarea
              {...control}
              autoFocus
              value={text}
              maxLength={20_000}
              className="min-h-56"
              onFocus={({ currentTarget }) => text !== '' && currentTarget.setSelectionRange(0, 0)}
              onChange={({ target }) => change({ text: target.value })}
            />
          )}
        </Field>
        {reply.isNewLead && (
          <Toggle
            label="Mark as contacted"
            checked={reply.marks}
            onChange={({ target }) => reply.setMarks(target.checked)}
          />
        )}
        <SenderHint submission={submission} />
      </Form>
    </Dialog>
  )
}

/** The sender of the email, and the recipient of an answer to it. */
function SenderHint({ submission }: { submission: Submission }) {
  const workspace = useWorkspace()
  const brand = useFormOf(submission)?.brand
  const sender = brand?.senderName ?? brand?.name ?? workspace.name
  return (
    <p className="text-sm text-soft">
      Sent as {sender}, unless your brand names another sender.{' '}
      {brand?.replyTo
        ? `Answers go to ${brand.replyTo}.`
        : 'Answers go to the reply-to address of your brand, else to you.'}
    </p>
  )
}
