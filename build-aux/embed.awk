# SPDX-License-Identifier: MIT
# Kernel sources as C byte arrays, so that no string literal passes the 4095
# characters that C11 (5.2.4.1) guarantees.
#   awk -f embed.awk FILE... > kernel_blob.c
# FILE a/b/quant.h becomes `kernel_blob_quant_h` and a row of kernel_blobs[]
# that is named "quant.h".  The text ends in a newline, with no terminator.
# Files are ASCII: awk implementations disagree about anything else.
BEGIN {
    files = 0
    files = 0 # as an index, an unset variable is "" to mawk
    for (i = 1; i < 128; i++) {
        code[sprintf("%c", i)] = i
    }
    print "/* Made by embed.awk; do not edit. */"
    print "#include \"kernel_src.h\""
}

FNR == 1 {
    if (files > 0) {
        print "};"
    }
    base = FILENAME
    sub(/.*\//, "", base)
    ident = base
    gsub(/[^A-Za-z0-9]/, "_", ident)
    names[files] = base
    idents[files] = ident
    files++
    printf "\nstatic const unsigned char kernel_blob_%s[] = {\n", ident
}

{
    line = ""
    for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1)
        if (!(c in code)) {
            printf "%s:%d: not ASCII\n", FILENAME, FNR > "/dev/stderr"
            exit 1
        }
        line = line code[c] ","
        if (length(line) > 80) {
            print line
            line = ""
        }
    }
    print line "10,"
}

END {
    if (files > 0) {
        print "};"
    }
    print "\nconst struct kernel_blob kernel_blobs[] = {"
    for (i = 0; i < files; i++) {
        id = "kernel_blob_" idents[i]
        printf "    { \"%s\", %s, sizeof(%s) },\n", names[i], id, id
    }
    print "};"
    printf "const unsigned kernel_blob_count = %d;\n", files
}
