// The form for the first account of a server, with a password or at the identity provider.

import { useMutation } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { signInWithOidc, signUp } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { FormError } from '../../ui/forms/form-error.tsx'
import { AccountForm } from './account-form.tsx'
import { CenteredPage } from './centered-page.tsx'

/** @param token from the address that the server prints; the server's own machine needs none */
export function FirstAccount({ token, oidcName }: { token?: string; oidcName?: string }) {
  const create = useMutation({ mutationFn: signUp, onSuccess: () => location.assign('/app'), onError() {} })
  const oidc = useMutation({
    mutationFn: () => signInWithOidc('/app', { setup: token }),
    onSuccess: (url) => location.assign(url),
    onError() {},
  })
  return (
    <CenteredPage
      title="Set up Towpath"
      description="This is the first account on this server. It will own the first workspace."
    >
      <AccountForm
        error={create.error}
        busy={create.isPending || create.isSuccess}
        action="Create account"
        onSubmit={(account) => create.mutate({ ...account, setup: token })}
      />
      {oidc.error && <FormError>{oidc.error.message}</FormError>}
      {oidcName && (
        <Button icon={<KeyRound size={16} />} busy={oidc.isPending} onClick={() => oidc.mutate()}>
          Continue with {oidcName}
        </Button>
      )}
    </CenteredPage>
  )
}
