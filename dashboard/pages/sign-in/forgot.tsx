// Asking for a link to set a new password.

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { askForReset, optionsQuery } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Problem } from '../../ui/problem.tsx'
import { TEXT_LINK } from '../../ui/text-link.ts'
import { Frame } from './frame.tsx'

export function ForgotPage() {
  const { data: options } = useQuery(optionsQuery)
  const ask = useMutation({ mutationFn: askForReset, onError() {} })
  const back = (
    <Link to="/sign-in" search={{}} className={TEXT_LINK}>
      Back to sign in
    </Link>
  )
  if (options && !options.mail) {
    return (
      <Frame
        title="Set a new password"
        description={
          <>
            This server sends no mail. Ask whoever runs it for a link; they make one with{' '}
            <code>npm run -s towpath -- user reset you@example.com</code>
          </>
        }
        footer={back}
      />
    )
  }
  if (ask.isSuccess) {
    return (
      <Frame
        title="Look into your mail"
        description="If there is an account with that address, a link to set a new password is on its way. It works once, for 30 minutes."
        footer={back}
      />
    )
  }
  return (
    <Frame title="Set a new password" description="We send a link to your address." footer={back}>
      {ask.error && <Problem>{ask.error.message}</Problem>}
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          ask.mutate(String(new FormData(event.currentTarget).get('email')))
        }}
      >
        <TextField label="E-mail" name="email" type="email" autoComplete="username" required autoFocus />
        <Button type="submit" look="primary" busy={ask.isPending}>
          Send the link
        </Button>
      </form>
    </Frame>
  )
}
