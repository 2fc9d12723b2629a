// An invitation: with an account one joins, without one it is made.

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { request } from '../../api/client.ts'
import { signOut, signUp, type User, userQuery } from '../../api/session.ts'
import { Button, buttonLook } from '../../ui/button.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { SkeletonRows } from '../../ui/states.tsx'
import { AccountForm } from './account-form.tsx'
import { CenteredPage } from './centered-page.tsx'
import { useAfterSignIn } from './use-after-sign-in.ts'

interface Invitation {
  email: string
  workspace: string
}

export function JoinPage() {
  const { token = '' } = useSearch({ from: '/join' })
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: async () =>
      (await (await request('/api/auth/invitation', { query: { token } })).json()) as Invitation,
    retry: false,
  })
  const { data: user, isPending } = useQuery(userQuery)
  if (invitation.isError) {
    return (
      <CenteredPage
        title="This invitation does not work"
        description="It may have been used, withdrawn, or be older than a week. Ask for a new one."
      />
    )
  }
  if (!invitation.data || isPending) {
    return (
      <CenteredPage title="Invitation">
        <SkeletonRows rows={3} className="h-9" />
      </CenteredPage>
    )
  }
  return user ? (
    <JoinAs user={user} invitation={invitation.data} token={token} />
  ) : (
    <JoinAsNew invitation={invitation.data} token={token} />
  )
}

interface JoinProps {
  invitation: Invitation
  token: string
}

function JoinAsNew({ invitation: { email, workspace }, token }: JoinProps) {
  const entered = useAfterSignIn()
  const create = useMutation({ mutationFn: signUp, onSuccess: () => entered(), onError() {} })
  return (
    <CenteredPage
      title={`Join ${workspace}`}
      description={`You were invited as ${email}.`}
      footer={
        <Link
          to="/sign-in"
          search={{ next: `/app/join?token=${encodeURIComponent(token)}` }}
          className={buttonLook('quiet', 'small')}
        >
          I have an account
        </Link>
      }
    >
      <AccountForm
        email={email}
        error={create.error}
        busy={create.isPending || create.isSuccess}
        action={`Join ${workspace}`}
        onSubmit={(account) => create.mutate({ ...account, invitation: token })}
      />
    </CenteredPage>
  )
}

function JoinAs({ invitation: { email, workspace }, token, user }: JoinProps & { user: User }) {
  const entered = useAfterSignIn()
  const accept = useMutation({
    mutationFn: () => request('/v1/invitations/accept', { method: 'POST', body: { token } }),
    onSuccess: () => entered(),
    onError() {},
  })
  const leave = useMutation({ mutationFn: signOut, onSuccess: () => location.reload() })
  const another = user.email.toLowerCase() !== email.toLowerCase()
  return (
    <CenteredPage title={`Join ${workspace}`} description={`You were invited as ${email}.`}>
      {another && (
        <FormError>You are signed in as {user.email}. This invitation is for another address.</FormError>
      )}
      {accept.error && <FormError>{accept.error.message}</FormError>}
      {another ? (
        <Button busy={leave.isPending} onClick={() => leave.mutate()}>
          Sign out
        </Button>
      ) : (
        <Button look="primary" busy={accept.isPending || accept.isSuccess} onClick={() => accept.mutate()}>
          Join {workspace}
        </Button>
      )}
    </CenteredPage>
  )
}
