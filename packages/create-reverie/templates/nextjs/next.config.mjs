// Reverie stays outside the bundle: it has SQLite, files and processes of its own.
export default { serverExternalPackages: ["reverie"] }
