import { dirname } from "node:path";

// The packages are in the folder above.
export default { output: "export", trailingSlash: true, turbopack: { root: dirname(process.cwd()) } };
