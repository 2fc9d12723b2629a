// Sets the stored theme before the first paint, and sends the first requests. The page waits for this small file, and not
// for main.tsx.

import { askEarly } from './api/early-answers.ts'
import { readLastWorkspace } from './shell/last-workspace.ts'
import { readTheme, setTheme } from './ui/theme.ts'

setTheme(readTheme())
// Who has never been in a workspace here has no session: the requests would be refused.
if (readLastWorkspace()) askEarly(location)
