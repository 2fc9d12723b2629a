// The page where a recipient of notifications confirms or stops them. Opening it changes nothing: mail scanners open links.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { ApiError, request } from '../../api/client.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { CenteredPage } from './centered-page.tsx'

interface Recipient {
  email: string
  state: 'confirmed' | 'unconfirmed' | 'stopped'
}

const TITLE = 'Email notifications'

export function MailPage() {
  const { token = '' } = useSearch({ from: '/mail' })
  const link = useQuery({
    queryKey: ['mail', token],
    queryFn: async () =>
      (await (await request('/api/mail/recipient', { query: { token } })).json()) as {
        workspace: string
        recipients: Recipient[]
      },
    retry: false,
  })
  if (link.error instanceof ApiError && link.error.status === 404)
    return (
      <CenteredPage
        title="This link isn’t valid"
        description="Open the link in the email again. If it still doesn’t work, its workspace was deleted and sends nothing more."
      />
    )
  if (link.error)
    return (
      <CenteredPage title={TITLE}>
        <ErrorState error={link.error} retry={link.refetch} />
      </CenteredPage>
    )
  if (!link.data)
    return (
      <CenteredPage title={TITLE}>
        <SkeletonRows rows={2} className="h-9" />
      </CenteredPage>
    )
  return (
    <CenteredPage
      title={TITLE}
      description={
        <>
          {link.data.workspace} on {location.host} would like to email you when someone submits one of its
          forms.
        </>
      }
    >
      <ul className="grid gap-5">
        {link.data.recipients.map((recipient) => (
          <RecipientChoice key={recipient.email} token={token} recipient={recipient} />
        ))}
      </ul>
    </CenteredPage>
  )
}

const STATES = {
  confirmed: { tone: 'good', label: 'On', text: 'You get these emails.' },
  unconfirmed: { tone: 'neutral', label: 'Not confirmed', text: 'You get no emails unless you confirm.' },
  stopped: { tone: 'neutral', label: 'Stopped', text: 'You get no more of these emails.' },
} as const

function RecipientChoice({ token, recipient: { email, state } }: { token: string; recipient: Recipient }) {
  const client = useQueryClient()
  const choose = useMutation({
    mutationFn: (action: 'confirm' | 'stop') =>
      request(`/api/mail/${action}`, { method: 'POST', body: { token, email } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['mail', token] }),
    onError() {},
  })
  const { tone, label, text } = STATES[state]
  return (
    <li className="grid gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 font-medium break-words">{email}</span>
        <Badge tone={tone}>{label}</Badge>
      </div>
      <p className="text-sm text-soft" role="status">
        {text}
      </p>
      {choose.error && <FormError>{choose.error.message}</FormError>}
      <div className="flex flex-wrap gap-2">
        {state !== 'confirmed' && (
          <Button variant="primary" busy={choose.isPending} onClick={() => choose.mutate('confirm')}>
            {state === 'stopped' ? 'Send them again' : 'Confirm'}
          </Button>
        )}
        {state !== 'stopped' && (
          <Button busy={choose.isPending} onClick={() => choose.mutate('stop')}>
            {state === 'confirmed' ? 'Stop these emails' : 'No, send nothing'}
          </Button>
        )}
      </div>
    </li>
  )
}
