// The page of an invitation: signed-in users join the workspace, others create an account first.

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { request } from '../../api/client.ts'
import { signOut, signUp, type User, userQuery } from '../../api/session.ts'
import { Button, buttonClassNames } from '../../ui/button.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
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
        title="This invitation isn’t valid"
        description="It was used or revoked, or it is older than seven days. Ask for a new invitation."
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
  const openDashboard = useAfterSignIn()
  const create = useMutation({ mutationFn: signUp, onSuccess: () => openDashboard(), onError() {} })
  return (
    <CenteredPage
      title={`Join ${workspace}`}
      description={`You were invited as ${email}.`}
      footer={
        <Link
          to="/sign-in"
          search={{ next: `/app/join?token=${encodeURIComponent(token)}` }}
          className={buttonClassNames('quiet', 'small')}
        >
          I already have an account
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
  const openDashboard = useAfterSignIn()
  const accept = useMutation({
    mutationFn: () => request('/v1/invitations/accept', { method: 'POST', body: { token } }),
    onSuccess: () => openDashboard(),
    onError() {},
  })
  const leaveSession = useMutation({ mutationFn: signOut, onSuccess: () => location.reload() })
  const isOtherUser = user.email.toLowerCase() !== email.toLowerCase()
  return (
    <CenteredPage title={`Join ${workspace}`} description={`You were invited as ${email}.`}>
      {isOtherUser && (
        <FormError>This invitation is for another address. You’re signed in as {user.email}.</FormError>
      )}
      {accept.error && <FormError>{accept.error.message}</FormError>}
      {isOtherUser ? (
        <Button busy={leaveSession.isPending} onClick={() => leaveSession.mutate()}>
          Sign out
        </Button>
      ) : (
        <Button variant="primary" busy={accept.isPending || accept.isSuccess} onClick={() => accept.mutate()}>
          Join {workspace}
        </Button>
      )}
    </CenteredPage>
  )
}
