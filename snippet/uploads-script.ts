// The third file of the snippet, /e/uploads-….js: loaded when somebody sends a file.

import type { TowpathGlobal } from './script-site.ts'
import { uploadTools } from './uploads.ts'

if (window.towpath) (window.towpath as TowpathGlobal).uploads = uploadTools
