// The page behind the link of a sign-up mail: it creates the account.

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ApiError } from '../../api/client.ts'
import { findSignUpEmail, signUp } from '../../api/session.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { AccountForm } from './account-form.tsx'
import { CenteredPage } from './centered-page.tsx'
import { useAddressToken } from './use-address-token.ts'

export function ConfirmPage() {
  const token = useAddressToken()
  const link = useQuery({
    queryKey: ['sign-up-link', token],
    queryFn: () => findSignUpEmail(token),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const create = useMutation({ mutationFn: signUp, onSuccess: () => location.assign('/app'), onError() {} })
  if (link.error instanceof ApiError && link.error.status === 404)
    return (
      <CenteredPage
        title="This link isn’t valid"
        description="It was used, or it is older than 24 hours. If you have reloaded the page, open the link in the email again."
        footer={
          <Link to="/sign-up" search={{}} className="text-link">
            Request a new link
          </Link>
        }
      />
    )
  if (link.error)
    return (
      <CenteredPage title="Create your account">
        <ErrorState error={link.error} retry={link.refetch} />
      </CenteredPage>
    )
  if (!link.data)
    return (
      <CenteredPage title="Create your account">
        <SkeletonRows rows={3} className="h-9" />
      </CenteredPage>
    )
  return (
    <CenteredPage title="Create your account" description="Your email address is confirmed.">
      <AccountForm
        email={link.data.email}
        error={create.error}
        busy={create.isPending || create.isSuccess}
        action="Create account"
        onSubmit={(account) => create.mutate({ ...account, confirmation: token })}
      />
    </CenteredPage>
  )
}
